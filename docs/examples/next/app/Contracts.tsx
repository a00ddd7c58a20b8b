'use client';

import { LedgerProvider } from 'canton-rx/react';
import { shareRemoteContracts } from 'canton-rx/sse';
import { type ReactNode, useState } from 'react';

/** Provides the contracts that the server sends to the user of the session. */
export function Contracts({ children }: { children: ReactNode }) {
  // once for each user. With the last component that shows them, the connection ends
  const [contracts] = useState(() => shareRemoteContracts('/api/contracts', { keepMs: 0 }));
  return <LedgerProvider contracts={contracts}>{children}</LedgerProvider>;
}
