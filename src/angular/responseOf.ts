import type { HttpErrorResponse, HttpResponse as AngularResponse } from '@angular/common/http';
import type { HttpResponse } from '../http/HttpPort.js';

/** The answer as the library has it, from what Angular makes of one. */
export const responseOf = (response: AngularResponse<unknown> | HttpErrorResponse): HttpResponse => {
  const { headers, status } = response;
  const text: unknown = 'body' in response ? response.body : response.error;
  return {
    status,
    headers: Object.fromEntries(
      headers.keys().map((name) => [name.toLowerCase(), headers.getAll(name)?.join(', ') ?? '']),
    ),
    text: typeof text === 'string' ? text : '',
  };
};
