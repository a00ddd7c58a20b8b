import { createLedger } from 'canton-rx';
import { LedgerProvider } from 'canton-rx/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { NewTask } from './NewTask';
import { Tasks } from './Tasks';
import './style.css';

// once, outside all components
const ledger = createLedger({ baseUrl: location.origin });
const party = new URLSearchParams(location.search).get('party');

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <LedgerProvider ledger={ledger} parties="any">
      <h1>Tasks</h1>
      {party === null ? <p>Add ?party=… to the address to create tasks.</p> : <NewTask party={party} />}
      <Tasks />
    </LedgerProvider>
  </StrictMode>,
);
