import { asyncScheduler } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';

/**
 * A scheduler in virtual time that lets one of two timers that are due at once cancel the other, as timers of the machine
 * may, and whose timers may have parts of milliseconds: RxJS's own fails then.
 */
class VirtualTime extends TestScheduler {
  override schedule: TestScheduler['schedule'] = (work, delay, state) =>
    super.schedule(
      function (value) {
        try {
          work.call(this, value);
        } catch (error) {
          if (!(error instanceof Error && error.message === 'Expected a due immediate or interval')) throw error;
        }
      },
      Math.ceil(delay ?? 0),
      state,
    );
}

/** Runs something in virtual time, to its end. */
export const runVirtually = (run: () => void): void => {
  new VirtualTime(() => undefined).run(({ flush }) => {
    run();
    flush();
  });
};

/** Does something later. */
export const later = (ms: number, action: () => void): void => {
  asyncScheduler.schedule(action, ms);
};
