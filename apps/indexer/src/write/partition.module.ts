import { Module } from '@nestjs/common';
import { Database, PartitionStore } from '#libs/db';
import { provide } from '#libs/service';
import { PartitionService } from './partition.service.js';

@Module({ providers: [provide(PartitionStore, Database), PartitionService] })
export class PartitionModule {}
