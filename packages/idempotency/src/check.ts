/** @throws RangeError naming the option, if it is no number from `least` to `most` */
export function checkNumber(name: string, value: number, least: number, most = Infinity): void {
  if (!(value >= least && value <= most)) {
    throw new RangeError(`${name} must be a number from ${least} to ${most}, not ${value}`);
  }
}

/** @throws RangeError naming the option, if it is no whole number from `least` to `most` */
export function checkWhole(
  name: string,
  value: number,
  least = 1,
  most = Number.MAX_SAFE_INTEGER,
): void {
  checkNumber(name, value, least, most);
  if (!Number.isInteger(value))
    throw new RangeError(`${name} must be a whole number, not ${value}`);
}
