/** Whether an error of the system has a code, such as `EPIPE`. */
export const hasCode = (u: unknown, code: string): boolean =>
  typeof u === 'object' && u !== null && 'code' in u && u.code === code;
