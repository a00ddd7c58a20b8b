import { Module } from '@nestjs/common';
import { Expiry } from './expiry.js';
import { Receipts } from './receipts.js';

@Module({ providers: [Expiry, Receipts], exports: [Expiry, Receipts] })
export class AutomationModule {}
