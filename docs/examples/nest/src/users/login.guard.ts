import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Login } from './login.js';
import { Logouts } from './logouts.js';
import { TokenVerifier } from './token-verifier.js';

/** A request that the guard has let through. */
export type UserRequest = Request & { login: Login };

/** Lets requests through with the access token of a user, in the header `Authorization`: not in an address, which is logged. */
@Injectable()
export class LoginGuard implements CanActivate {
  constructor(
    private readonly verifier: TokenVerifier,
    private readonly logouts: Logouts,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<UserRequest>();
    http.getResponse<Response>().header('www-authenticate', 'Bearer');
    const [, token] = /^Bearer ([\w.~+/=-]+)$/i.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined) throw new UnauthorizedException();
    const login = await this.verifier.verify(token);
    if (await this.logouts.has(login)) throw new UnauthorizedException();
    request.login = login;
    return true;
  }
}
