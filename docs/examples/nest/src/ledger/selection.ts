import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { acsDelta, type UpdateFormat } from 'canton-rx';
import type { Environment } from '../config/environment.js';

/** The updates that the service reads. */
@Injectable()
export class Selection {
  readonly updateFormat: UpdateFormat;

  constructor(config: ConfigService<Environment, true>) {
    this.updateFormat = acsDelta({ parties: config.get('PARTIES', { infer: true }) ?? 'any' });
  }
}
