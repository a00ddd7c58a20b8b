import { isLedgerError } from '../../errors/LedgerError.js';
import type { HttpResponse } from '../../http/HttpPort.js';
import { escapeText } from '../text.js';
import { cantonErrorCode, type Trouble } from './Finding.js';

const checkPort = 'check that this is the port of the JSON Ledger API';

/** What is wrong with a response; `undefined` for JSON with status 200, whatever its content. */
export function troubleOfResponse({ status, headers, text }: HttpResponse): Trouble | undefined {
  if (isHtml(headers['content-type'], text))
    return {
      kind: 'foreign',
      text: `the server answers with an HTML page (${status})`,
      next: `look for a proxy or a login page in front of the ledger, and ${checkPort}`,
    };
  if (status === 200) return isJson(text) ? undefined : notJson;
  if (status >= 300 && status < 400)
    return {
      kind: 'foreign',
      text: `the server redirects to another address (${status})`,
      next: 'use the address of the redirect: requests with a token do not follow redirects',
    };
  if (status === 401)
    return {
      kind: 'token',
      text: 'token refused (401)',
      next: 'get a new token; the log of the participant has the reason',
    };
  if (status === 403)
    return { kind: 'token', text: 'the user of the token lacks a right (403)', next: 'grant the right to the user' };
  const code = cantonErrorCode(text);
  if ([502, 503, 504].includes(status) && code === undefined)
    return {
      kind: 'unreachable',
      text: `a gateway answers, but the participant does not (${status})`,
      next: 'check that the participant is running; it may be starting',
    };
  return {
    kind: 'other',
    text: `the server answered ${status}${code === undefined ? '' : ` ${escapeText(code).slice(0, 60)}`}`,
  };
}

const notJson: Trouble = { kind: 'foreign', text: 'the response is not JSON', next: checkPort };

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

/**
 * Why there is no response.
 *
 * @param isConnected - whether the server accepts connections, which distinguishes the causes of a timeout
 */
export function troubleOfError(error: unknown, isConnected = true): Trouble {
  if (!isLedgerError(error)) return flaw;
  switch (error._tag) {
    case 'RequestTimeoutError':
      return isConnected ? noResponse : noConnection;
    case 'TokenError':
      return {
        kind: 'token',
        text: 'the token file can no longer be read',
        next: 'restore the file, or give another one with --token-file',
      };
    case 'AnswerTooLargeError':
      return {
        kind: 'foreign',
        text: `the response is larger than ${error.maxBytes / 2 ** 20} MiB`,
        next: checkPort,
      };
    case 'ConnectionError':
      return connectionTrouble(error.code);
    default:
      return flaw;
  }
}

const flaw: Trouble = {
  kind: 'other',
  text: 'the check itself failed',
  next: 'report this to the authors of canton-rx',
};

const noResponse: Trouble = {
  kind: 'unreachable',
  text: 'connected, but no response in time',
  next: 'the participant may be overloaded or starting; check the port',
};

const noConnection: Trouble = {
  kind: 'unreachable',
  text: 'no connection in time',
  next: 'a firewall may drop the packets: check host, port, VPN and proxy',
};

function connectionTrouble(code: string | undefined): Trouble {
  if (code === undefined)
    return {
      kind: 'unreachable',
      text: 'the connection failed',
      next: 'check host and port; fetch refuses some ports, such as 6000',
    };
  if (code.startsWith('HPE_'))
    return {
      kind: 'foreign',
      text: 'the server does not speak HTTP/1.1',
      next: 'this may be the gRPC port: the JSON Ledger API has a separate port',
    };
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return notJson;
  const trouble = known[code] ?? (code.startsWith('ERR_SSL') ? known['EPROTO'] : undefined);
  return { kind: 'unreachable', ...(trouble ?? { text: `the connection failed (${code})` }) };
}

const addAuthority = 'add its authority with NODE_EXTRA_CA_CERTS=FILE, or contact the operator of the ledger';

const closed = {
  text: 'the connection was closed without a response',
  next: 'this may be https or the gRPC port: the JSON Ledger API speaks HTTP/1.1 on a separate port',
};

const checkNetwork = 'check the network, a VPN, the routes';

/** By the codes of the system, of TLS and of fetch. */
const known: Readonly<Partial<Record<string, Omit<Trouble, 'kind'>>>> = {
  ECONNREFUSED: {
    text: 'connection refused: nothing listens on this port',
    next: 'check that the participant is running, that its http-ledger-api is enabled, and that this is its port',
  },
  ENOTFOUND: { text: 'the host name does not resolve', next: 'check the spelling of the host name, and DNS' },
  EAI_AGAIN: { text: 'DNS does not answer', next: 'check the network and the DNS of this machine' },
  EHOSTUNREACH: { text: 'no route to the host', next: checkNetwork },
  ENETUNREACH: { text: 'no route to the network', next: checkNetwork },
  ETIMEDOUT: { text: 'no connection in time', next: 'check the port, and firewalls' },
  ECONNRESET: closed,
  UND_ERR_SOCKET: closed,
  EPROTO: { text: 'the server does not speak TLS', next: 'try http:// instead of https://' },
  CERT_HAS_EXPIRED: { text: 'the certificate has expired', next: 'contact the operator of the ledger' },
  DEPTH_ZERO_SELF_SIGNED_CERT: { text: 'the certificate is self-signed', next: addAuthority },
  SELF_SIGNED_CERT_IN_CHAIN: { text: 'the authority of the certificate is not trusted', next: addAuthority },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: { text: 'the authority of the certificate is unknown', next: addAuthority },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: { text: 'the authority of the certificate is unknown', next: addAuthority },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    text: 'the certificate is for another host name',
    next: 'use the host name in the certificate',
  },
};
