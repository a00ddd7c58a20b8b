import { describe, expect, it } from '@jest/globals';
import { TokenSource } from '../../src/client/TokenSource.js';
import { Learned } from '../../src/client/Learned.js';

// A service reads the rights of each of its users, each from its own path, for years.

const rightsOf = (user: number): string => `/v2/users/user${user}/rights`;
const users = Array.from({ length: 3_000 }, (_, user) => user);

describe('the paths that a participant has served', () => {
  it('are those of the last requests, and those that are requested all the time', () => {
    const learned = new Learned('auto');
    for (const user of users) {
      learned.answered(rightsOf(user));
      if (user % 500 === 0) learned.answered('/v2/updates');
    }
    expect(users.filter((user) => learned.hasAnswered(rightsOf(user))).length).toBeLessThanOrEqual(1_000);
    expect(learned.hasAnswered(rightsOf(2_999))).toBe(true);
    expect(learned.hasAnswered('/v2/updates')).toBe(true);
    expect(learned.hasAnswered()).toBe(true);
  });

  it('show in the same way for which requests a token was accepted', () => {
    const tokens = new TokenSource(() => 'token', 1_000);
    expect(tokens.mayAcceptLater('token')).toBe(false);
    for (const user of users) {
      tokens.accepted(rightsOf(user));
      if (user % 500 === 0) tokens.accepted('/v2/updates');
    }
    expect(users.filter((user) => tokens.mayHaveEnded(rightsOf(user))).length).toBeLessThanOrEqual(1_000);
    expect(tokens.mayHaveEnded('/v2/updates')).toBe(true);
    expect(tokens.mayAcceptLater('token')).toBe(true);
  });
});
