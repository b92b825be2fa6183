/** The navigation of the panel: the number beside the attention list. */
import { expect, test } from 'vitest';
import type { Session } from '../../src/core/operators/sessions.ts';
import { html } from '../../src/lib/text/html.ts';
import { panelDocument } from '../../src/pages/panel/frame/layout.ts';

const session = {
  principal: { role: 'owner', mids: null },
  operator: { name: 'Ada' },
  formToken: 'token',
} as unknown as Session;

test.each([
  [0, undefined],
  [7, '7'],
  [99, '99'],
  [100, '99+'],
])('of %s payments that need attention', (marked, shown) => {
  const page = panelDocument({ environment: 'sandbox' }, { title: 'Title', body: html``, session, marked });
  expect(/Needs attention <span class="badge bad">([^<]*)</.exec(page)?.[1]).toBe(shown);
});
