// Enrolment: its pages. Who is enrolled is decided by the lane's flow.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../console/console.module.js';
import { EngineModule } from '../engine/engine.module.js';
import { EnrolmentPages } from './enrolment.pages.js';

@Module({ imports: [ConsoleModule, EngineModule], controllers: [EnrolmentPages] })
export class EnrolmentModule {}
