import { HttpErrorResponse } from '@angular/common/http';
import { of, throwError, type Observable } from 'rxjs';
import type { HttpResponse } from '../http/HttpPort.js';
import { responseOf } from './responseOf.js';

/** What HttpClient takes for an error is an answer of another status, unless there was none. */
export const answerOf = (error: unknown): Observable<HttpResponse> =>
  error instanceof HttpErrorResponse && isWhole(error) ? of(responseOf(error)) : throwError(() => error);

/** An answer that broke off has the status that it began with, and an error in place of its text. */
const isWhole = ({ status, error }: HttpErrorResponse): boolean =>
  status > 0 && (typeof error === 'string' || error === null);
