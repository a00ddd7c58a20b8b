import { type Observable, throwError } from 'rxjs';
import type { Service } from '../feed/Service.js';
import type { SocketPort } from './SocketPort.js';

/** See `Transport.readList`. */
export const readList = (service: Service, port: SocketPort, path: string, body: object): Observable<unknown> =>
  throwError(() => new Error(`not built: ${path} ${String(service)} ${String(port)} ${String(body)}`));
