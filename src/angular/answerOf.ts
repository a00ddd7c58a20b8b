import { HttpErrorResponse } from '@angular/common/http';
import { of, throwError, type Observable } from 'rxjs';
import { AnswerTooLargeError } from '../errors/AnswerTooLargeError.js';
import type { HttpResponse } from '../http/HttpPort.js';
import { bodyLimitOf } from './bodyLimitOf.js';
import { responseOf } from './responseOf.js';

/** What HttpClient takes for an error is an answer of another status, unless there was none, or it was not read. */
export function answerOf(error: unknown, path: string): Observable<HttpResponse> {
  if (!(error instanceof HttpErrorResponse)) return throwError(() => error);
  if (isWhole(error)) return of(responseOf(error));
  const maxBytes = bodyLimitOf(error.error);
  return throwError(() => (maxBytes === undefined ? error : new AnswerTooLargeError(path, maxBytes)));
}

/** An answer that broke off has the status that it began with, and an error in place of its text. */
const isWhole = ({ status, error }: HttpErrorResponse): boolean =>
  status > 0 && (typeof error === 'string' || error === null);
