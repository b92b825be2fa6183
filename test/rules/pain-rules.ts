/** The rules of the schema of pain.001.001.09 for the elements that our files have, written as data, and a check by them. */

/** An element: its name, its type, and how often it occurs. */
type Child = readonly [name: string, type: string, least: number, most: number];

const one = (name: string, type: string): Child => [name, type, 1, 1];
const maybe = (name: string, type: string): Child => [name, type, 0, 1];

/** The children of each type in their order; those of a choice are one of several. */
const SEQUENCES: Readonly<Record<string, readonly Child[]>> = {
  Document: [one('CstmrCdtTrfInitn', 'Initiation')],
  Initiation: [one('GrpHdr', 'GroupHeader'), ['PmtInf', 'PaymentInstruction', 1, Number.POSITIVE_INFINITY]],
  GroupHeader: [
    ...[one('MsgId', 'Max35Text'), one('CreDtTm', 'DateTime'), one('NbOfTxs', 'Max15Number')],
    ...[maybe('CtrlSum', 'Decimal'), one('InitgPty', 'Party')],
  ],
  PaymentInstruction: [
    ...[one('PmtInfId', 'Max35Text'), one('PmtMtd', 'PaymentMethod'), maybe('NbOfTxs', 'Max15Number')],
    ...[maybe('CtrlSum', 'Decimal'), maybe('PmtTpInf', 'PaymentType'), one('ReqdExctnDt', 'DateChoice')],
    ...[one('Dbtr', 'Party'), one('DbtrAcct', 'Account'), one('DbtrAgt', 'Agent'), maybe('ChrgBr', 'ChargeBearer')],
    ['CdtTrfTxInf', 'Transaction', 1, Number.POSITIVE_INFINITY],
  ],
  PaymentType: [maybe('SvcLvl', 'ServiceLevel')],
  Party: [maybe('Nm', 'Max140Text')],
  Account: [one('Id', 'AccountChoice')],
  OtherAccount: [one('Id', 'Max34Text')],
  Agent: [one('FinInstnId', 'Institution')],
  Institution: [maybe('BICFI', 'Bic'), maybe('ClrSysMmbId', 'Member'), maybe('Othr', 'OtherInstitution')],
  Member: [one('MmbId', 'Max35Text')],
  OtherInstitution: [one('Id', 'Max35Text')],
  Transaction: [
    ...[one('PmtId', 'PaymentId'), one('Amt', 'AmountChoice'), maybe('CdtrAgt', 'Agent'), maybe('Cdtr', 'Party')],
    ...[maybe('CdtrAcct', 'Account'), maybe('RmtInf', 'Remittance')],
  ],
  PaymentId: [maybe('InstrId', 'Max35Text'), one('EndToEndId', 'Max35Text')],
  Remittance: [['Ustrd', 'Max140Text', 0, Number.POSITIVE_INFINITY]],
};

const CHOICES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  DateChoice: { Dt: 'Date' },
  AccountChoice: { IBAN: 'Iban', Othr: 'OtherAccount' },
  AmountChoice: { InstdAmt: 'Amount' },
  ServiceLevel: { Cd: 'Max4Text' },
};

const TEXTS: Readonly<Record<string, RegExp>> = {
  Max4Text: /^.{1,4}$/s,
  Max34Text: /^.{1,34}$/s,
  Max35Text: /^.{1,35}$/s,
  Max140Text: /^.{1,140}$/s,
  Max15Number: /^[0-9]{1,15}$/,
  DateTime: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/,
  Date: /^\d{4}-\d\d-\d\d$/,
  // At most 18 digits, 17 of them after the point.
  Decimal: /^(?=(\D*\d){1,18}\D*$)\d+(\.\d{1,17})?$/,
  // At most 18 digits, five of them after the point.
  Amount: /^(?=(\D*\d){1,18}\D*$)\d+(\.\d{1,5})?$/,
  Iban: /^[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{1,30}$/,
  Bic: /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/,
  PaymentMethod: /^(CHK|TRF|TRA)$/,
  ChargeBearer: /^(DEBT|CRED|SHAR|SLEV)$/,
};

/** Attributes that a type needs; no other one has any but the root. */
const ATTRIBUTES: Readonly<Record<string, RegExp>> = {
  Amount: /^ Ccy="[A-Z]{3}"$/,
  Document: /^ xmlns="urn:iso:std:iso:20022:tech:xsd:pain\.001\.001\.09"$/,
};

export interface Element {
  name: string;
  attributes: string;
  text: string;
  children: Element[];
}

/** Reads elements and texts; there are no comments, references or empty elements. */
export function parseXml(xml: string): Element {
  const root: Element = { name: '', attributes: '', text: '', children: [] };
  const open = [root];
  for (const [, end, name = '', attributes = '', text = ''] of xml
    .replace(/^<\?xml[^?]*\?>\s*/, '')
    .matchAll(/<(\/?)(\w+)([^<>]*)>([^<>]*)/g)) {
    if (end === '/') {
      if (open.pop()?.name !== name) throw new Error(`</${name}> ends another element.`);
    } else {
      const element = { name, attributes, text, children: [] };
      open.at(-1)?.children.push(element);
      open.push(element);
    }
  }
  if (open.length !== 1 || root.children.length !== 1) throw new Error('The elements are not closed.');
  return root.children[0] as Element;
}

/** What is wrong with an element of a type; the path says where. */
export function problemsOf(element: Element, type = 'Document', path = element.name): string[] {
  const { attributes, text, children } = element;
  const problems: string[] = [];
  if (!(ATTRIBUTES[type] ?? /^$/).test(attributes)) problems.push(`${path}: attributes${attributes}`);
  const pattern = TEXTS[type];
  if (pattern) {
    if (children.length > 0 || !pattern.test(text) || /[&<>]/.test(text)) problems.push(`${path}: ${text}`);
    return problems;
  }
  if (text.trim() !== '') problems.push(`${path}: text ${text}`);
  const choice = CHOICES[type];
  if (choice) {
    const [only, ...more] = children;
    const chosen = only && choice[only.name];
    if (!only || chosen === undefined || more.length > 0) return [...problems, `${path}: not one of its choices`];
    return [...problems, ...problemsOf(only, chosen, `${path}/${only.name}`)];
  }
  const left = [...children];
  for (const [name, childType, least, most] of SEQUENCES[type] ?? []) {
    let count = 0;
    for (; left[0]?.name === name; count++) {
      problems.push(...problemsOf(left.shift() as Element, childType, `${path}/${name}`));
    }
    if (count < least || count > most) problems.push(`${path}: ${count} times ${name}`);
  }
  return left.length > 0 ? [...problems, `${path}: ${left[0]?.name} is not here in the sequence`] : problems;
}
