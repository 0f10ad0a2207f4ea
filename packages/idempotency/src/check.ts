/** @throws RangeError naming the option, if it is no whole number from `least` to `most` */
export function checkWhole(
  name: string,
  value: number,
  least = 1,
  most = Number.MAX_SAFE_INTEGER,
): void {
  if (!(Number.isSafeInteger(value) && value >= least && value <= most)) {
    throw new RangeError(`${name} must be a whole number from ${least} to ${most}, not ${value}`);
  }
}
