import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// the page and the ledger have one origin, so that the ledger needs no CORS
const proxy = { '/v2': process.env.LEDGER_URL ?? 'http://127.0.0.1:7575' };

export default defineConfig({ plugins: [react()], server: { proxy }, preview: { proxy } });
