import { asyncScheduler, concat, defer, interval, map, merge, type Observable, of, takeWhile } from 'rxjs';
import type { SocketPort, SocketSign } from '../../../../src/ws/index.js';
import { socketEnd, socketOpen, socketText } from '../../../helpers/scripted.js';
import type { Participant } from './Participant.js';
import { refusalOf } from './snapshot.js';
import type { World } from './World.js';

/** Pushes updates over WebSockets. A socket stays at its participant, also after the address leads to another one. */
export const socketsOf =
  (world: World): SocketPort =>
  ({ message }) =>
    defer(() => {
      const { beginExclusive } = JSON.parse(message) as { readonly beginExclusive: number };
      return world.request(
        (node) => pushed(world, node, beginExclusive),
        () => socketEnd(1006),
      );
    }).pipe(takeWhile(({ _tag }) => _tag !== 'End', true));

function pushed(world: World, node: Participant, begin: number): Observable<SocketSign> {
  const refusal = refusalOf(node, begin);
  if (refusal !== undefined) return of<SocketSign[]>(socketOpen, { _tag: 'Text', text: refusal.text }, socketEnd(1000));
  world.sockets += 1;
  const page = { at: asyncScheduler.now(), begin, order: node.listing };
  const known = world.found(node, begin).map((listed) => world.send(listed, page));
  const elements$ = merge(known, world.news(node, page)).pipe(map(socketText));
  const pongs$ = interval(10_000).pipe(map((): SocketSign => ({ _tag: 'Alive' })));
  return concat(of(socketOpen), merge(elements$, pongs$));
}
