import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// the page and what it reads have one origin, so that the ledger needs no CORS
const proxy = {
  '/v2': process.env.LEDGER_URL ?? 'http://127.0.0.1:7575',
  '/contracts': process.env.CONTRACTS_URL ?? 'http://127.0.0.1:8080',
};

export default defineConfig({ plugins: [react()], server: { proxy }, preview: { proxy } });
