// npm run --silent token alice: logs a user in, as a browser does, and prints the access token
import { createHash, randomBytes } from 'node:crypto';
import process from 'node:process';

const [user = 'alice', resource = process.env.LOGIN_AUDIENCE ?? 'https://contracts.example'] = process.argv.slice(2);
const issuer = process.env.LOGIN_ISSUER ?? 'http://127.0.0.1:4000';
const client = { client_id: 'page', redirect_uri: 'http://127.0.0.1/callback', resource };
const verifier = randomBytes(32).toString('base64url');

const cookies = new Map();
const visit = async (url, form) => {
  const response = await fetch(url, {
    method: form === undefined ? 'GET' : 'POST',
    body: form && new URLSearchParams(form),
    redirect: 'manual',
    headers: { cookie: [...cookies].map((cookie) => cookie.join('=')).join('; ') },
  });
  for (const cookie of response.headers.getSetCookie()) cookies.set(...cookie.split(';')[0].split(/=(.*)/s, 2));
  const location = response.headers.get('location');
  if (location === null) throw new Error(`${response.status} ${await response.text()}`);
  return new URL(location, url);
};

const query = new URLSearchParams({
  ...client,
  response_type: 'code',
  scope: 'openid contracts',
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
});
let url = await visit(`${issuer}/auth?${query}`);
// the two pages of the provider: the login, and the consent
for (const form of [{ prompt: 'login', login: user, password: 'any' }, { prompt: 'consent' }])
  url = await visit(await visit(url, form));
const code = url.searchParams.get('code');
const body = new URLSearchParams({ ...client, grant_type: 'authorization_code', code, code_verifier: verifier });
const response = await fetch(`${issuer}/token`, { method: 'POST', body });
const { access_token: token, error_description: reason } = await response.json();
if (token === undefined) throw new Error(reason);
console.log(token);
