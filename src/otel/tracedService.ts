import { tap } from 'rxjs';
import type { Listeners } from '../events/Listeners.js';
import { reportTo } from '../events/Report.js';
import type { Service } from '../feed/Service.js';
import type { HttpRequest } from '../http/HttpPort.js';
import type { Operation } from './Operation.js';
import type { Recorder } from './Recorder.js';
import { requestsOf } from './requestsOf.js';
import { socketsOf } from './socketsOf.js';
import { safely } from './safely.js';

/**
 * A ledger's service, as one operation is to see it: with requests of its own, and with events that come by here on their
 * way to the ledger's. All that feeds find out about the service they share.
 */
export function tracedService(service: Service, operation: Operation, recorder: Recorder): Service {
  const events: Listeners = {
    observed: true,
    next: (event) => {
      safely(() => {
        operation.told(event);
      });
      service.events.next(event);
    },
    asObservable: () => service.events.asObservable(),
  };
  const statuses = new WeakMap<HttpRequest, number>();
  return {
    ...service,
    events,
    link: {
      ...service.link,
      report: reportTo(events),
      port: (request) =>
        service.link.port(request).pipe(
          tap(({ status }) => {
            statuses.set(request, status);
          }),
        ),
      socketPort: socketsOf(operation, recorder, service.link),
      around: requestsOf(operation, recorder, (request) => statuses.get(request)),
    },
    get feeds() {
      return service.feeds;
    },
    set feeds(count) {
      service.feeds = count;
    },
  };
}
