/** Whether a text is bytes in lower-case hexadecimal, as contract ids are written. */
export const isContractId = (text: string): boolean =>
  text.length > 0 && text.length % 2 === 0 && !/[^0-9a-f]/.test(text);
