'use server';

import { beginSession, endSession, users } from '../lib/sessions';

export async function signIn(form: FormData): Promise<void> {
  const user = users.find((name) => name === form.get('user'));
  if (user !== undefined) await beginSession(user);
}

export const signOut = async (): Promise<void> => endSession();
