/** The paths of the main pages of the panel, with payments that give them something to show. */
import { SETTING_GROUPS } from '../../src/rules/setting-groups.ts';
import type { TestGateway } from './gateway.ts';
import { brandSale } from './operations.ts';
import type { TestOperator } from './operators.ts';

export async function panelPaths(shop: TestGateway, owner: TestOperator): Promise<string[]> {
  const { mid } = shop.merchant;
  const { trans_id: id } = (await shop.sale({ payer_first_name: 'Anna', payer_last_name: 'Meyer' })).body;
  const { trans_id: other } = (await shop.post(brandSale('bank-a', shop.merchant))).body;
  await owner.submit(`/admin/payments/${id}/refund`, { amount: '4', reason: 'duplicate', note: 'Twice' });
  const { plan_id: plan } = (await shop.admin('POST', '/price-plans', { name: 'Tarif', side: 'sell' })).body;
  const lines = [
    { event: 'sale', networks: ['visa'], currencies: ['EUR'], percent: '1.9', fixed: '0.25', minimum: '0.4' },
  ];
  await shop.admin('POST', `/price-plans/${plan}/versions`, { lines, refund_policy: 'full' });
  return [
    '',
    '?days=30',
    '/reports',
    '/reports?by_brand=1&by_connection=1&by_day=1',
    '/reports/reconciliations',
    '/payments',
    `/payments/${id}`,
    `/payments/${other}`,
    `/payments/${id}/refund`,
    `/payments/${id}/receipt`,
    `/payments/${id}/erase`,
    '/attention',
    '/chargebacks',
    '/risk',
    '/risk/rules',
    '/risk/rules/new',
    '/risk/lists',
    '/accounts',
    '/accounts/new',
    `/accounts/${mid}`,
    ...[...SETTING_GROUPS.keys()].map((group) => `/accounts/${mid}?tab=${group}`),
    `/accounts/${mid}/logo`,
    `/accounts/${mid}/routes?brand=bank-a&currency=EUR&amount=1.00`,
    '/connections',
    '/connections/new',
    '/connections/new/adyen',
    '/connections/new/upstream',
    '/prices',
    `/prices/${plan}?event=sale&brand=card&network=visa&currency=EUR&amount=1.00`,
    `/prices/${plan}/new`,
    '/callbacks',
    `/callbacks/${id}-2`,
    '/callbacks/resend',
    '/schedules',
    '/requests',
    '/debugger',
    '/sandbox',
    '/sandbox/controls',
    '/sandbox/callbacks',
    '/operators',
    `/operators/${owner.operatorId}`,
    '/tokens',
    '/audit',
    '/me',
  ];
}
