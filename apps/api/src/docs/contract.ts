import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { describeApi, type OpenApi, previewApp } from '#libs/openapi';
import { CLOCK } from '#libs/platform';
import { AnswerKeys } from '#libs/signing';
import { ApiSettings } from '../api.env.js';
import { AnswerKeysController } from '../http/answer-keys.controller.js';
import { DaysController } from '../days/days.controller.js';
import { DayExportController } from '../days/export/day-export.controller.js';
import { DayExports } from '../days/export/day-exports.service.js';
import { SealedDays } from '../days/sealed-days.service.js';
import { API_VERSION } from '../http/signed-wire.js';
import { Admissions } from '../auth/admission.js';
import { HistoryController } from '../history/history.controller.js';
import { BatchRoute } from '../snapshots/batch.route.js';
import { ErrorAnswer } from '../http/contract.js';
import { SnapshotsRoute } from '../snapshots/snapshots.route.js';
import { StakeSets } from '../snapshots/stake-sets.js';

/** The routes without their services, because the contract comes from their decorators alone. */
@Module({
  controllers: [
    SnapshotsRoute,
    BatchRoute,
    HistoryController,
    DaysController,
    DayExportController,
    AnswerKeysController,
  ],
})
class ContractModule {}

/**
 * The OpenAPI contract with partners: from the decorators of routes and DTOs, completed by rules that decorators cannot
 * express.
 */
export async function contractOfApi(): Promise<OpenApi> {
  const app = await previewApp(
    (given) => ({ module: ContractModule, imports: [given] }),
    [StakeSets, Admissions, SealedDays, DayExports, ApiSettings, AnswerKeys, CLOCK],
  );
  const contract = describeApi(app, {
    title: 'Lowmark staking snapshots',
    version: API_VERSION,
    description:
      'Changes under this path are additive only; expect new fields, headers and error messages. Every answer is signed, errors included.',
    modules: [ContractModule],
    security: ['apiKey', { type: 'apiKey', in: 'header', name: 'X-API-KEY' }],
    errorBody: ErrorAnswer,
  });
  Object.assign(contract.components.schemas['Snapshots'] ?? {}, {
    dependentRequired: {
      valueInUSD: ['exchangeRateToUSD'],
      exchangeRateToUSD: ['valueInUSD'],
    },
  });
  return { ...contract, security: [{ apiKey: [] }] } as OpenApi;
}
