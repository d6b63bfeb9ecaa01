import { createRoute } from '@tanstack/react-router';
import { operateRoute } from '../operate-route';
import { lazyPage } from '../../shell/upgrades';

const list = createRoute({
  getParentRoute: () => operateRoute,
  path: '/partners',
  component: lazyPage(() => import('./partners-page'), 'PartnersPage'),
});
const one = createRoute({
  getParentRoute: () => operateRoute,
  path: '/partners/$partner',
  component: lazyPage(() => import('./partner-page'), 'PartnerPage'),
});

export const partnerRoutes = [list, one] as const;
