/** A body for the log: JSON if it is, else the text, else nothing. */
export function parsed(body: string): unknown {
  if (body === '') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
