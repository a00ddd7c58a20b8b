import { Injectable, NotFoundException, ServiceUnavailableException, UnauthorizedException } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { createRemoteJWKSet, errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import type { Environment } from '../config/environment.js';
import type { Login } from './login.js';

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url() });

/** The claims of an access token (RFC 9068) that the service uses. */
const Claims = z.object({ sub: z.string().min(1), jti: z.string().min(1), exp: z.number() });

/** How long the identity provider may take, in milliseconds. */
const timeoutMs = 5_000;

/** Verifies access tokens with the keys of the identity provider, which may start after the service, and may rotate them. */
@Injectable()
export class TokenVerifier {
  private readonly issuer: string | undefined;
  private readonly audience: string;
  private keys: Promise<JWTVerifyGetKey> | undefined;

  constructor(config: ConfigService<Environment, true>) {
    this.issuer = config.get('LOGIN_ISSUER', { infer: true });
    this.audience = config.get('LOGIN_AUDIENCE', { infer: true });
  }

  /** The login of a token. Throws 401 for every other text, without a reason, which would help only an attacker. */
  async verify(token: string): Promise<Login> {
    const { issuer, audience } = this;
    if (issuer === undefined) throw new NotFoundException('LOGIN_ISSUER is not set');
    const keys = await this.keysOf(issuer);
    try {
      const options = { issuer, audience, typ: 'at+jwt', algorithms: ['RS256', 'ES256', 'PS256', 'EdDSA'] };
      const { payload } = await jwtVerify(token, keys, options);
      const { sub, jti, exp } = Claims.parse(payload);
      return { subject: sub, tokenId: jti, expiresAt: exp };
    } catch (error) {
      if (isUnreachable(error)) throw unavailable(error);
      throw new UnauthorizedException();
    }
  }

  /** The keys of the provider. A failure is not kept. */
  private async keysOf(issuer: string): Promise<JWTVerifyGetKey> {
    this.keys ??= discover(issuer);
    try {
      return await this.keys;
    } catch (error) {
      this.keys = undefined;
      throw unavailable(error);
    }
  }
}

async function discover(issuer: string): Promise<JWTVerifyGetKey> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  const discovery = Discovery.parse(await response.json());
  if (discovery.issuer !== issuer) throw new Error(`the issuer at ${issuer} is ${discovery.issuer}`);
  return createRemoteJWKSet(new URL(discovery.jwks_uri), { timeoutDuration: timeoutMs });
}

/** Whether the keys could not be read: says nothing about the token. */
const isUnreachable = (error: unknown): boolean =>
  error instanceof errors.JWKSTimeout || error instanceof TypeError || isHttpError(error);

/** The error of jose for a response that is not a set of keys has no class. */
const isHttpError = (error: unknown): boolean => error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC';

const unavailable = (cause: unknown): ServiceUnavailableException =>
  new ServiceUnavailableException('the identity provider is not available', { cause });
