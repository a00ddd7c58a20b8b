import { Module } from '@nestjs/common';
import { LoginGuard } from './login.guard.js';
import { Logouts } from './logouts.js';
import { MyContractsController } from './my-contracts.controller.js';
import { Rights } from './rights.js';
import { TokenVerifier } from './token-verifier.js';
import { UserContracts } from './user-contracts.js';
import { UserTables } from './user-tables.js';

@Module({
  controllers: [MyContractsController],
  providers: [LoginGuard, Logouts, Rights, TokenVerifier, UserContracts, UserTables],
})
export class UsersModule {}
