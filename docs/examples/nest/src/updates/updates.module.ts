import { Module } from '@nestjs/common';
import { SharedFeed } from './shared-feed.js';
import { UpdatesController } from './updates.controller.js';
import { UpdatesService } from './updates.service.js';

@Module({ controllers: [UpdatesController], providers: [SharedFeed, UpdatesService] })
export class UpdatesModule {}
