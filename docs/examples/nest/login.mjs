// npm run login: an identity provider for those who have none at hand. It accepts every name, with every password
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import process from 'node:process';
import Provider from 'oidc-provider';

const server = createServer().listen(Number(process.env.LOGIN_PORT ?? 4000), '127.0.0.1');
await once(server, 'listening');
const issuer = `http://127.0.0.1:${server.address().port}`;
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const provider = new Provider(issuer, {
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'RS256', use: 'sig' }] },
  cookies: { keys: [randomUUID()] },
  clients: [
    {
      client_id: 'page',
      // a page keeps no secret: PKCE takes its place
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/callback'],
    },
  ],
  features: {
    resourceIndicators: {
      enabled: true,
      // one audience for each service, so that no service can use the tokens of another
      getResourceServerInfo: (_, resource) => ({
        scope: 'contracts',
        audience: resource,
        accessTokenFormat: 'jwt',
        accessTokenTTL: Number(process.env.TOKEN_SECONDS ?? 600),
      }),
    },
  },
});
const handle = provider.callback();
server.on('request', (request, response) => void handle(request, response));
console.log(`an identity provider at ${issuer}; Ctrl-C ends it`);

const stop = () => {
  server.close();
  server.closeAllConnections();
};
process.once('SIGINT', stop).once('SIGTERM', stop);
