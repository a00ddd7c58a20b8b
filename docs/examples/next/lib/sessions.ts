// stands for your login: it lets everyone in, without a password
import { randomUUID } from 'node:crypto';
import { cookies } from 'next/headers';
import { BehaviorSubject, filter, type Observable } from 'rxjs';

export const users = ['alice', 'bob'];

/** The users by the ID of their session. */
type Sessions = ReadonlyMap<string, string>;

// as in contracts.ts
const kept = globalThis as { sessions$?: BehaviorSubject<Sessions> };
const sessions$ = (kept.sessions$ ??= new BehaviorSubject<Sessions>(new Map()));

/** Returns the user of the current request, and when the session ends. */
export async function currentSession(): Promise<{ user: string; ended$: Observable<unknown> } | undefined> {
  const id = (await cookies()).get('session')?.value ?? '';
  const user = sessions$.value.get(id);
  return user === undefined ? undefined : { user, ended$: sessions$.pipe(filter((sessions) => !sessions.has(id))) };
}

/** Begins a session, in place of the current one. */
export async function beginSession(user: string): Promise<void> {
  await endSession();
  const id = randomUUID();
  sessions$.next(new Map([...sessions$.value, [id, user]]));
  // with HTTPS, add secure: true
  (await cookies()).set('session', id, { httpOnly: true, sameSite: 'lax' });
}

/** Ends the current session, and with it the streams to its pages. */
export async function endSession(): Promise<void> {
  const id = (await cookies()).get('session')?.value;
  sessions$.next(new Map([...sessions$.value].filter(([other]) => other !== id)));
  (await cookies()).delete('session');
}
