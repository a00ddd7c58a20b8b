import { type Answer, AskError } from '../probe/ask.js';
import { plain } from '../terminal.js';
import { codeIn, type Trouble } from './Finding.js';

const notJson: Trouble = {
  kind: 'foreign',
  text: 'what answers is not JSON',
  next: "is this the JSON Ledger API's port?",
};

/** Why an answer is no good one; `undefined` where it is JSON of status 200, whatever that says. */
export function troubleOfAnswer({ status, headers, text }: Answer): Trouble | undefined {
  if (isHtml(headers['content-type'], text))
    return {
      kind: 'foreign',
      text: `an HTML page answers, with status ${status}`,
      next: "is there a proxy or a login page before it? is this the JSON Ledger API's port?",
    };
  if (status === 200) return isJson(text) ? undefined : notJson;
  if (status >= 300 && status < 400)
    return {
      kind: 'foreign',
      text: `it redirects to elsewhere, with status ${status}`,
      next: 'give the address that it redirects to: nothing that has a token follows a redirect',
    };
  if (status === 401)
    return {
      kind: 'token',
      text: 'the token is refused (401)',
      next: 'get a new one; the participant does not say what is wrong with it, its log does',
    };
  if (status === 403)
    return { kind: 'token', text: "the token's user may not do this (403)", next: 'have the user granted the right' };
  const code = codeIn(text);
  if ([502, 503, 504].includes(status) && code === undefined)
    return {
      kind: 'unreachable',
      text: `a gateway answers, and the participant does not (${status})`,
      next: 'is the participant up? it may be starting',
    };
  return {
    kind: 'other',
    text: `answered with ${status}${code === undefined ? '' : ` ${plain(code).slice(0, 60)}`}`,
  };
}

const isHtml = (type: string | undefined, text: string): boolean =>
  type?.includes('html') === true || /^\s*<(?:!doctype|html)/i.test(text);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const silence: Trouble = {
  kind: 'unreachable',
  text: 'connected, but there was no answer in time',
  next: 'is the participant overloaded or starting? is this the right port?',
};

const blackHole: Trouble = {
  kind: 'unreachable',
  text: 'no connection in time',
  next: 'a firewall may swallow it: check host, port, VPN and proxy',
};

const certificate = 'add its authority with NODE_EXTRA_CA_CERTS=FILE, or ask whoever runs the ledger';

/** By the codes of the system, of TLS and of the HTTP parser. */
const known: Readonly<Partial<Record<string, Omit<Trouble, 'kind'>>>> = {
  ECONNREFUSED: {
    text: 'connection refused: nothing listens there',
    next: "is the participant up, and its http-ledger-api on? is this that API's port?",
  },
  ENOTFOUND: { text: 'the host has no address', next: 'check the spelling of the host, and the name server' },
  EAI_AGAIN: { text: 'the name server does not answer', next: "check this machine's network and name server" },
  EHOSTUNREACH: { text: 'there is no way to the host', next: 'check the network, a VPN, the routes' },
  ENETUNREACH: { text: 'there is no way to the network', next: 'check the network, a VPN, the routes' },
  ETIMEDOUT: { text: 'no connection in time', next: 'check the port, and firewalls on the way' },
  ECONNRESET: {
    text: 'the connection was cut',
    next: 'is this https, or the gRPC port? the JSON Ledger API speaks HTTP/1.1 on a port of its own',
  },
  EPROTO: { text: 'no TLS is spoken there', next: 'try http:// in place of https://' },
  CERT_HAS_EXPIRED: { text: 'the certificate has expired', next: 'ask whoever runs the ledger' },
  DEPTH_ZERO_SELF_SIGNED_CERT: { text: 'the certificate is self-signed', next: certificate },
  SELF_SIGNED_CERT_IN_CHAIN: { text: 'the certificate is of an authority that is not trusted', next: certificate },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: { text: "the certificate's authority is not known", next: certificate },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: { text: "the certificate's authority is not known", next: certificate },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    text: 'the certificate is of another host',
    next: 'use the name that the certificate has',
  },
  TOO_LARGE: { text: 'the answer is very large, and was not read', next: 'is this the JSON Ledger API?' },
};

/** Why there is no answer. */
export function troubleOfError(error: unknown): Trouble {
  if (!(error instanceof AskError))
    return { kind: 'other', text: 'the check itself failed', next: 'tell the authors of canton-rx' };
  const { code, isConnected } = error;
  if (code === 'TIMEOUT') return isConnected ? silence : blackHole;
  if (code === 'NO_TOKEN')
    return { kind: 'token', text: 'there is no token any more', next: 'see that the token file can be read' };
  if (code.startsWith('HPE_'))
    return {
      kind: 'foreign',
      text: 'what answers speaks no HTTP/1.1',
      next: "is this the gRPC port? the JSON Ledger API's is another",
    };
  const trouble = known[code] ?? (code.startsWith('ERR_SSL') ? known['EPROTO'] : undefined);
  if (trouble === undefined) return { kind: 'unreachable', text: `the connection failed (${code})` };
  return { kind: code === 'TOO_LARGE' ? 'foreign' : 'unreachable', ...trouble };
}
