import { Observable } from 'rxjs';
import type { Output } from './World.js';

/** Completes when everything written so far has been passed on. */
export const flushed = (output: Output): Observable<never> =>
  new Observable((subscriber) => {
    output.write('', (error) => {
      if (error) subscriber.error(error);
      else subscriber.complete();
    });
  });
