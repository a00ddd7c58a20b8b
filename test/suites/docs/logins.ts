import { firstValueFrom } from 'rxjs';
import { createLedger } from '../../../src/index.js';
import { startSandbox } from '../../../src/sandbox/index.js';
import { startOidcProvider } from '../../helpers/oidcProvider.js';

/** A participant, and the login service of its users. */
export interface Logins {
  /** The URL of the login service. */
  readonly url: string;
  /** A party of the participant. */
  readonly party: string;
  /** How the login service has issued its tokens, in order. */
  readonly grants: readonly string[];
  /** The number of requests with a token that the participant has refused. */
  readonly refused: number;
  /** The number of requests to the participant. */
  readonly requests: number;
  /** Forgets what was issued and refused. */
  begin(): void;
  /** Replaces the addresses of the guide. */
  replaceAddresses(code: string): string;
  /** Creates a contract, and returns how many there are. */
  create(): Promise<number>;
  /** Revokes all tokens, so that the users must sign in. */
  revoke(): Promise<void>;
  close(): Promise<void>;
}

/** The token of the test. */
const operator = 'operator';

/** Starts a sandbox that accepts the tokens of a login service, oidc-provider, which pages at some URLs may use. */
export async function startLogins(pages: readonly string[]): Promise<Logins> {
  let [refused, contracts] = [0, 0];
  const accepted = new Set([operator]);
  const saved = new Set<{ destroy(): Promise<unknown>; readonly grantId?: string | undefined }>();
  const grants: string[] = [];
  const { url, provider, close } = await startOidcProvider({
    clientBasedCORS: () => true,
    clients: [
      {
        client_id: 'wallet',
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [...pages],
        post_logout_redirect_uris: [...pages],
        token_endpoint_auth_method: 'none',
      },
    ],
    features: { devInteractions: { enabled: true } },
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    pkce: { required: () => true },
    scopes: ['openid', 'offline_access', 'daml_ledger_api'],
    ttl: {
      AccessToken: 600,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      RefreshToken: 600,
      Session: 600,
    },
  });
  provider.on('access_token.saved', (token) => {
    saved.add(token);
    accepted.add(token.jti);
  });
  provider.on('refresh_token.saved', (token) => saved.add(token));
  provider.on('grant.success', ({ oidc }) => grants.push(String(oidc.params?.['grant_type'])));
  const sandbox = await startSandbox({
    cors: true,
    checkToken: (token = '') => {
      if (!accepted.has(token)) refused += 1;
      return accepted.has(token);
    },
  });
  const ledger = createLedger({ baseUrl: sandbox.url, token: operator });
  const party = sandbox.hostedParty('alice');
  return {
    url,
    party,
    grants,
    get refused() {
      return refused;
    },
    get requests() {
      return sandbox.requests.length;
    },
    begin: () => {
      grants.length = 0;
      refused = 0;
    },
    replaceAddresses: (code) =>
      code.replace('https://login.example', url).replace('http://127.0.0.1:7575', sandbox.url),
    create: async () => {
      const argument = { owner: party, amount: '1.0', serial: String(contracts) };
      const CreateCommand = { templateId: '#sandbox-assets:Main:Asset', createArguments: argument };
      await firstValueFrom(ledger.submitAndWaitForTransaction({ actAs: [party], commands: [{ CreateCommand }] }));
      return (contracts += 1);
    },
    revoke: async () => {
      for (const token of accepted) if (token !== operator) accepted.delete(token);
      for (const token of saved) {
        const grant = await provider.Grant.find(token.grantId ?? '');
        await grant?.destroy();
        await token.destroy();
      }
      saved.clear();
    },
    close: async () => {
      await sandbox.close();
      close();
    },
  };
}
