import { createRoute } from '@tanstack/react-router';
import { operateRoute } from '../operate-route';
import { searchOf } from './search';
import { lazyPage } from '../../shell/upgrades';

const list = createRoute({
  getParentRoute: () => operateRoute,
  path: '/redemptions',
  validateSearch: searchOf,
  component: lazyPage(() => import('./redemptions-page'), 'RedemptionsPage'),
});
const one = createRoute({
  getParentRoute: () => operateRoute,
  path: '/redemptions/$redemption',
  component: lazyPage(() => import('./redemption-page'), 'RedemptionPage'),
});

export const redemptionRoutes = [list, one] as const;
