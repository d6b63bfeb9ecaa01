import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { HttpShutdown, type HttpShutdownOptions } from '#libs/service';
import { ApiSettings } from '../api.env.js';
import { OPENED } from '../connections.module.js';
import { ApiChecks } from './api-checks.js';

@Injectable()
export class ApiShutdown extends HttpShutdown {
  constructor(
    host: HttpAdapterHost,
    checks: ApiChecks,
    settings: ApiSettings,
    @Inject(OPENED) opened: HttpShutdownOptions['opened'],
  ) {
    const stopping = (): void => {
      checks.stopping();
    };
    super({ host, stopping, delayMs: settings.shutdownDelayMs, opened });
  }
}
