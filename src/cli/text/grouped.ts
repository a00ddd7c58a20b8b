/** A number with its digits in threes; `…` for one that is not known. */
export const grouped = (number: number | undefined): string =>
  number === undefined ? '…' : number.toLocaleString('en').replaceAll(',', ' ');
