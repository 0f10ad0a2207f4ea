/** Three sales of 1.00 each, as the JSON that a load binds. */
export const SALES = JSON.stringify(["s-1", "s-2", "s-3"].map((id) => ({ id, minor: 100 })));
