import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { defer, finalize, Subject, take, takeUntil } from 'rxjs';
import { follow } from '../../src/sandbox/endpoints/follow.js';
import type { Call } from '../../src/sandbox/http/Call.js';
import { elementsOf } from '../../src/sandbox/http/Wait.js';
import { Participant } from '../../src/sandbox/participant/Participant.js';
import { Settings } from '../../src/sandbox/participant/Settings.js';
import { observe } from '../helpers/observe.js';

let participant: Participant;
let client: Subject<void>;
let observers: number;

beforeEach(() => {
  jest.useFakeTimers();
  participant = new Participant(new Settings({ earlyCheckpointMs: false, idleCheckpointMs: 1000 }));
  client = new Subject();
  observers = 0;
  const { changes$ } = participant.ledger;
  const counted$ = defer(() => {
    observers += 1;
    return changes$;
  }).pipe(
    finalize(() => {
      observers -= 1;
    }),
  );
  jest.spyOn(participant.ledger, 'changes$', 'get').mockReturnValue(counted$);
});
afterEach(() => {
  jest.useRealTimers();
});

/** The numbers of observers of the ledger, and of timers. */
const resources = () => [observers, jest.getTimerCount()];

/** A stream of the offsets of the ledger. */
const stream = () =>
  elementsOf(
    follow({ participant, method: 'GET', isAuthorized: () => true } as Call, {
      beginExclusive: 0,
      read: (_, upTo) => [{ upTo }],
      envelope: (checkpoint) => checkpoint,
    }),
  ).pipe(takeUntil(client));

describe('an open-ended stream that waits', () => {
  it.each<[string, readonly object[], () => unknown]>([
    [
      'a change of the ledger',
      [{ upTo: 2 }],
      () => {
        participant.ledger.advance(2);
      },
    ],
    [
      'the idle time',
      [{ OffsetCheckpoint: {} }],
      () => {
        jest.advanceTimersByTime(1);
      },
    ],
    [
      'the end of the client',
      [],
      () => {
        client.next();
      },
    ],
  ])('resumes after %s, and releases its timer and listeners', (_, elements, happen) => {
    const first = observe(stream().pipe(take(1)));
    expect(resources()).toEqual([1, 1]);
    jest.advanceTimersByTime(999);
    happen();
    expect(first).toMatchObject({ values: elements, completed: true });
    expect(resources()).toEqual([0, 0]);
  });

  it('waits without a timer if nothing is due', () => {
    participant.settings.change({ idleCheckpointMs: false });
    const { subscription } = observe(stream());
    expect(resources()).toEqual([1, 0]);
    subscription.unsubscribe();
    expect(resources()).toEqual([0, 0]);
  });
});
