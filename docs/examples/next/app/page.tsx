import { Suspense } from 'react';
import { currentSession, users } from '../lib/sessions';
import { signIn, signOut } from './actions';
import { Contracts } from './Contracts';
import { Count, Tasks } from './Tasks';

export default async function Page() {
  const session = await currentSession();
  if (session === undefined)
    return (
      <form action={signIn}>
        <h1>Tasks</h1>
        {users.map((user) => (
          <button key={user} name="user" value={user}>
            Sign in as {user}
          </button>
        ))}
      </form>
    );
  return (
    <>
      <h1>Tasks of {session.user}</h1>
      <form action={signOut}>
        <button>Sign out</button>
      </form>
      {/* with a key, the components of another user begin again */}
      <Contracts key={session.user}>
        <Suspense fallback={<p>Counting</p>}>
          <Count />
        </Suspense>
        <Tasks />
      </Contracts>
    </>
  );
}
