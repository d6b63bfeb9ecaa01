/** The pages of operators; each is loaded when it is opened. */
import { createRoute } from '@tanstack/react-router';
import { operateRoute } from './operate-route';
import { partnerRoutes } from './partners/routes';
import { redemptionRoutes } from './redemptions/routes';
import { lazyPage } from '../shell/upgrades';

const overview = createRoute({
  getParentRoute: () => operateRoute,
  path: '/',
  component: lazyPage(() => import('./overview/overview-page'), 'OverviewPage'),
});
const wallets = createRoute({
  getParentRoute: () => operateRoute,
  path: '/wallets',
  component: lazyPage(() => import('./wallet/wallets-page'), 'WalletsPage'),
});
const wallet = createRoute({
  getParentRoute: () => operateRoute,
  path: '/wallets/$wallet',
  component: lazyPage(() => import('./wallet/wallet-page'), 'WalletPage'),
});
const adoption = createRoute({
  getParentRoute: () => operateRoute,
  path: '/adoption',
  component: lazyPage(() => import('./redemptions/adoption-page'), 'AdoptionPage'),
});
const reconciliation = createRoute({
  getParentRoute: () => operateRoute,
  path: '/reconciliation',
  component: lazyPage(() => import('./reconciliation/reconciliation-page'), 'ReconciliationPage'),
});
const audits = createRoute({
  getParentRoute: () => operateRoute,
  path: '/audits',
  component: lazyPage(() => import('./audits/audits-page'), 'AuditsPage'),
});
const registry = createRoute({
  getParentRoute: () => operateRoute,
  path: '/registry',
  component: lazyPage(() => import('./registry/registry-page'), 'RegistryPage'),
});
const doctor = createRoute({
  getParentRoute: () => operateRoute,
  path: '/doctor',
  component: lazyPage(() => import('./doctor/doctor-page'), 'DoctorPage'),
});
const log = createRoute({
  getParentRoute: () => operateRoute,
  path: '/log',
  component: lazyPage(() => import('./log/log-page'), 'LogPage'),
});
const approvals = createRoute({
  getParentRoute: () => operateRoute,
  path: '/approvals',
  component: lazyPage(() => import('./approvals/approvals-page'), 'ApprovalsPage'),
});

export const operateRoutes = operateRoute.addChildren([
  overview,
  wallets,
  wallet,
  ...partnerRoutes,
  ...redemptionRoutes,
  adoption,
  reconciliation,
  audits,
  registry,
  doctor,
  log,
  approvals,
]);
