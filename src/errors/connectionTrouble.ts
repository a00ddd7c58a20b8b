// bundles for browsers have connectionTrouble.browser.ts in place of this file: only Node.js has such codes

/** Why there is no response, in a few words, and what to do about it. */
interface ConnectionTrouble {
  readonly text: string;
  readonly next: string;
  /** Whether a server answers that is not a participant. */
  readonly isForeign?: boolean;
  /** Whether the address is wrong, and a retry cannot help, unless the server has been a participant before. */
  readonly isPermanent?: boolean;
  /** Whether the client has refused the request, so that a retry cannot help, whatever the server has answered before. */
  readonly isOfClient?: boolean;
}

/** Explains the code of a `ConnectionError`; `undefined` for an unknown one. */
export function connectionTrouble(code: string | undefined): ConnectionTrouble | undefined {
  if (code === undefined) return withoutCode;
  if (code.startsWith('HPE_')) return noHttp;
  return known[code] ?? (code.startsWith('ERR_SSL_') ? handshakeFailed : undefined);
}

const withoutCode: ConnectionTrouble = {
  text: 'the connection failed',
  next: 'check host and port; fetch refuses some ports, such as 6000',
};

const noHttp: ConnectionTrouble = {
  isForeign: true,
  isPermanent: true,
  text: 'the server does not speak HTTP/1.1',
  next: 'this may be the gRPC port or https: the JSON Ledger API has a separate port',
};

const noTls: ConnectionTrouble = {
  isPermanent: true,
  text: 'the server does not speak TLS',
  next: 'try http:// instead of https://',
};

/** An alert of a server that speaks TLS: it may have no certificate yet, so a retry may help. */
const handshakeFailed: ConnectionTrouble = {
  text: 'the TLS handshake failed',
  next: 'the server may have no certificate for this host name yet, or require one of the client',
};

const closedByProgram: ConnectionTrouble = {
  isOfClient: true,
  text: 'the dispatcher of undiciPort is closed',
  next: 'close it after the last request',
};

const refusedByClient: ConnectionTrouble = {
  isOfClient: true,
  text: 'undici refuses the request',
  next: 'check the headers of the ledger, and the address',
};

const closed: ConnectionTrouble = {
  text: 'the connection was closed without a response',
  next: 'this may be https or the gRPC port: the JSON Ledger API speaks HTTP/1.1 on a separate port',
};

const checkNetwork = 'check the network, a VPN, the routes';

const addAuthority = 'add its authority with NODE_EXTRA_CA_CERTS=FILE, or contact the operator of the ledger';

const untrusted = (text: string, next = addAuthority): ConnectionTrouble => ({ isPermanent: true, text, next });

const unknownAuthority = untrusted('the authority of the certificate is unknown');

/** By the codes of the system, of TLS and of fetch. */
const known: Readonly<Partial<Record<string, ConnectionTrouble>>> = {
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
  UND_ERR_CLOSED: closedByProgram,
  UND_ERR_DESTROYED: closedByProgram,
  UND_ERR_INVALID_ARG: refusedByClient,
  UND_ERR_NOT_SUPPORTED: refusedByClient,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  // the server speaks HTTP/2 alone, as the gRPC port with TLS does
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: noHttp,
  EPROTO: { ...noTls, isPermanent: false },
  CERT_HAS_EXPIRED: untrusted('the certificate has expired', 'contact the operator of the ledger'),
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted('the certificate is self-signed'),
  SELF_SIGNED_CERT_IN_CHAIN: untrusted('the authority of the certificate is not trusted'),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted(
    'the certificate is for another host name',
    'use the host name in the certificate',
  ),
};
