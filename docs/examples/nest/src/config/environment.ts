import { z } from 'zod';

const ms = (byDefault: number) => z.coerce.number().int().positive().default(byDefault);

/** Compose and Kubernetes set a variable without a value to the empty string. */
const unlessEmpty = <A extends z.ZodType>(type: A) =>
  z.preprocess((value) => (value === '' ? undefined : value), type.optional());

/** The configuration, from the environment or a file `.env`. The service does not start with an invalid value. */
export const Environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  /** The port of `/livez`, `/readyz`, `/status` and `/metrics`. */
  STATUS_PORT: z.coerce.number().int().min(0).max(65_535).default(3001),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),

  LEDGER_URL: z.url({ protocol: /^https?$/ }).default('http://127.0.0.1:7575'),
  /** A file with the bearer token, read for every request, which another process renews. */
  LEDGER_TOKEN_FILE: unlessEmpty(z.string()),
  /** The bearer token, if it does not expire while the service runs. */
  LEDGER_TOKEN: unlessEmpty(z.string()),
  LEDGER_TIMEOUT_MS: ms(30_000),
  /** The party that the service submits for. Without it, the service only reads. */
  PARTY: unlessEmpty(z.string()),
  /** Its Ed25519 key: a file, PKCS #8 in PEM. Without it, the participant hosts the party and signs for it. */
  PARTY_KEY_FILE: unlessEmpty(z.string()),
  /** The user that submits for a hosted party. Required by a participant without authentication. */
  LEDGER_USER: unlessEmpty(z.string()),
  /** How long a submission may take to determine its outcome after a lost response. */
  SUBMIT_WITHIN_MS: ms(20_000),
  /** How long assets with the tag `temporary` exist. */
  TEMPORARY_MS: ms(60_000),
  /** The parties whose contracts are kept, separated by commas; by default all parties of the participant. */
  PARTIES: unlessEmpty(
    z.string().transform((text) =>
      text
        .split(',')
        .map((party) => party.trim())
        .filter(Boolean),
    ),
  ),

  /** The identity provider of the users (OpenID Connect). Without it, no user can read their contracts. */
  LOGIN_ISSUER: unlessEmpty(z.url({ protocol: /^https?$/ })),
  /** The audience of access tokens for this service. */
  LOGIN_AUDIENCE: z.string().min(1).default('https://contracts.example'),

  /** PostgreSQL, 12 or later; by default the one of `npm run database`. The service makes its tables. */
  DATABASE_URL: unlessEmpty(z.string()).transform(
    (url) => url ?? 'postgres://postgres:password@127.0.0.1:5432/postgres',
  ),

  /** Where spans are sent, by OTLP over HTTP; by default they are not sent. */
  OTEL_EXPORTER_OTLP_ENDPOINT: unlessEmpty(z.url()),
  OTEL_SERVICE_NAME: z.string().default('contracts'),

  READY_UNSEEN_MS: ms(15_000),
  READY_BEHIND_MS: ms(60_000),
  STOP_WITHIN_MS: ms(5_000),
  HEARTBEAT_MS: ms(15_000),
});

export type Environment = z.infer<typeof Environment>;
