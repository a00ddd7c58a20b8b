import { afterEach, beforeEach, jest } from '@jest/globals';

/** For the tests of a file: the random delays of retries are the average ones. */
export function useAverageDelays(): void {
  beforeEach(() => {
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
}
