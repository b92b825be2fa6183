/** Reconciliations in the panel: uploads a statement, shows and changes its columns, and shows the result. */
import { beforeAll, expect, test } from 'vitest';
import { type Fields, openShop } from '../support/gateway.ts';
import { COOKIE, signedIn, type TestOperator } from '../support/operators.ts';
import { uploadStatement } from '../support/statements.ts';

const shop = openShop();
const LIST = '/admin/reports/reconciliations';

const day = (offset = 0): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
const csvFile = (text: string, name = 'july.csv'): File => new File([text], name);
const CHOICES: Fields = { delimiter: 'comma', amount_format: 'decimal' };
const around = () => ({ from: day(-1), to: day(1) });

let operator: TestOperator;
let viewer: TestOperator;
beforeAll(async () => {
  [operator, viewer] = [await signedIn(shop, 'operator'), await signedIn(shop, 'viewer')];
});

const uploaded = async (text: string): Promise<string> => {
  const { status, location } = await operator.upload(LIST, csvFile(text));
  expect(status).toBe(303);
  return location ?? '';
};
/** The page when the comparison is over. */
const finished = async (path: string): Promise<string> => {
  await expect.poll(async () => (await operator.get(path)).text).not.toContain('data-refresh=');
  return (await operator.get(path)).text;
};
const selected = (text: string, name: string): string | undefined =>
  new RegExp(`<select id="${name}".*?<option value="([^"]*)" selected>`, 's').exec(text)?.[1];

test('an operator uploads a statement, changes a column, and sees what differs', async () => {
  const { trans_id: id } = (await shop.sale()).body;
  const { trans_id: unlisted } = (await shop.sale({ order_amount: '4.00' })).body;
  const path = await uploaded(`payment id,amount,net,currency,note\n${id},9.00,10.00,USD,4111111111111111\n`);
  const form = (await operator.get(path)).text;
  expect(['reference', 'amount', 'currency', 'type'].map((name) => selected(form, name))).toEqual([
    'payment id',
    'amount',
    'currency',
    '',
  ]);
  expect(form).toContain('First rows of the file');
  expect(form).not.toContain('4111111111111111');
  const choices = { ...CHOICES, ...around(), reference: 'payment id', amount: 'net', currency: 'currency' };
  expect(await operator.submit(`${path}/compare`, choices)).toMatchObject({ status: 303, location: path });
  const result = await finished(path);
  expect(result).toMatch(/Matched<\/h2><p class="figure">1</);
  expect(result).toMatch(/Missing there<\/h2><p class="figure">1</);
  expect(result).toContain(`href="/admin/payments/${unlisted}"`);
  const missing = await viewer.get(`${path}?outcome=missing_there`);
  expect(missing.text).toContain(unlisted);
  expect(missing.text).not.toContain(id);
  const file = await viewer.get(`${path}/rows.csv?outcome=missing_there`);
  expect(file.text.split('\r\n')).toHaveLength(3);
  expect((await viewer.get(LIST)).text).toContain('july.csv');
  // It is compared once.
  expect((await operator.submit(`${path}/compare`, choices)).status).toBe(400);
});

test('a bad row is named, and the columns can be changed', async () => {
  const path = await uploaded('payment_id;price;currency\nx;1,5;USD\ny;?;USD\n');
  const choices = { ...CHOICES, ...around(), reference: 'payment_id', amount: 'price', currency: 'currency' };
  await operator.submit(`${path}/compare`, { ...choices, delimiter: 'semicolon', amount_format: 'decimal_comma' });
  const failed = await finished(path);
  expect(failed).toContain('Row 3, column “price”: This is not an amount in USD in the chosen format.');
  expect(selected(failed, 'amount')).toBe('price');
  expect(selected(failed, 'amount_format')).toBe('decimal_comma');
});

test('what is missing is said beside the field, and the choices are kept', async () => {
  const path = await uploaded('a,b\n1,2\n');
  const refused = await operator.submit(`${path}/compare`, {
    ...CHOICES,
    reference: 'a',
    connector: 'nonsense',
    to: 'x',
  });
  expect(refused.status).toBe(400);
  expect(refused.text).toMatch(/id="to-error">Enter a date/);
  const { text } = await operator.submit(`${path}/compare`, { ...CHOICES, reference: 'a', connector: 'nonsense' });
  for (const name of ['amount', 'currency', 'connector', 'from']) expect(text, name).toContain(`id="${name}-error"`);
  expect(text).not.toContain('id="reference-error"');
  expect(selected(text, 'reference')).toBe('a');
});

test.each([
  ['', 'The file is empty.'],
  ['PK\u0003\u0004', 'Save the workbook as CSV and upload that file.'],
])('the file %j is refused beside the field', async (text, sentence) => {
  const { status, text: page } = await operator.upload(LIST, csvFile(text));
  expect(status).toBe(400);
  expect(page).toContain(`id="file-error">${sentence}`);
});

test('a file that breaks off is refused, and ends nothing else if nothing reads it', async () => {
  const broken = (cookie: string, formToken = '') =>
    fetch(`${shop.url}${LIST}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: `${COOKIE}=${cookie}`, 'content-type': 'multipart/form-data; boundary=b' },
      body: [
        ...['--b', 'content-disposition: form-data; name="form_token"', '', formToken],
        ...['--b', 'content-disposition: form-data; name="file"; filename="a.csv"', '', 'a,b'],
      ].join('\r\n'),
    });
  const formToken = /name="form_token" value="([^"]+)"/.exec((await operator.get(LIST)).text)?.[1];
  expect((await broken('')).status).toBe(303);
  expect((await broken(operator.cookie)).status).toBe(403);
  const answer = await broken(operator.cookie, formToken);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('id="file-error">The upload broke off.');
  expect((await fetch(`${shop.url}/health/live`)).status).toBe(200);
});

test('no file is refused, and so is a form of another session, before the file is read', async () => {
  expect((await operator.submit(LIST)).text).toContain('id="file-error">Choose a file.');
  const listed = (await shop.admin('GET', '/reconciliations?limit=500')).body.items.length;
  for (const token of ['', 'x'])
    expect((await operator.upload(LIST, csvFile('a'.repeat(2e6)), token)).status).toBe(403);
  expect((await viewer.upload(LIST, csvFile('a,b'))).status).toBe(403);
  const restricted = await signedIn(shop, 'operator', [shop.merchant.mid]);
  expect((await restricted.upload(LIST, csvFile('a,b'))).status).toBe(403);
  expect((await restricted.get('/admin/reports')).text).not.toContain(LIST);
  expect((await operator.get('/admin/reports')).text).toContain(LIST);
  expect((await shop.admin('GET', '/reconciliations?limit=500')).body.items).toHaveLength(listed);
});

test('the page of a comparison shows its progress, and offers to start one again that has died', async () => {
  const path = await uploaded('payment_id,amount,currency\nx,1.00,USD\n');
  const id = path.split('/').at(-1);
  await shop.rows(`update reconciliations set state = 'comparing', rows_read = 12345, updated_at = now()
    where reconciliation_id = '${id}'`);
  const running = (await operator.get(path)).text;
  expect(running).toContain('data-refresh="2"');
  expect(running).toContain('12,345');
  const choices = { ...CHOICES, ...around(), reference: 'payment_id', amount: 'amount', currency: 'currency' };
  expect((await operator.submit(`${path}/compare`, choices)).status).toBe(400);
  await shop.rows(
    `update reconciliations set updated_at = now() - interval '3 minutes' where reconciliation_id = '${id}'`,
  );
  expect((await operator.get(path)).text).toContain('The comparison has stopped. Start it again.');
  expect((await operator.submit(`${path}/compare`, choices)).status).toBe(303);
  expect(await finished(path)).toContain('Missing here');
});

test('deleting asks first, and files that were never compared are deleted after a day', async () => {
  const path = await uploaded('a,b\n');
  expect((await operator.get(`${path}/delete`)).text).toContain('Delete this reconciliation?');
  expect((await viewer.submit(`${path}/delete`)).status).toBe(403);
  expect((await operator.get(path)).status).toBe(200);
  expect((await operator.submit(`${path}/delete`)).location).toBe(LIST);
  expect((await operator.get(path)).status).toBe(404);
  const draft = await uploaded('a,b\n');
  const done = (await uploadStatement(shop, 'payment_id,amount,currency\nx,1.00,USD', around())).body.reconciliation_id;
  await shop.rows(`update reconciliations set updated_at = now() - interval '25 hours'`);
  await uploaded('a,b\n');
  expect((await operator.get(draft)).status).toBe(404);
  expect((await operator.get(`${LIST}/${done}`)).status).toBe(200);
});
