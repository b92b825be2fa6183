/** Texts of the panel in German. */
import type { PanelTexts } from '../texts.ts';

export const hashDebugger: PanelTexts['debugger'] = {
  intro: 'Finden Sie heraus, warum das Gateway auf eine Anfrage eines Händlers „Hash is not valid“ antwortet.',
  account: 'Konto',
  choose: 'Konto wählen',
  chooseAccount: 'Wählen Sie ein Konto aus der Liste und geben Sie die Anfrage noch einmal ein.',
  request: 'Inhalt der Anfrage',
  requestHint: 'Der ganze Inhalt, genau wie gesendet: das Formular von /post oder das JSON von Checkout.',
  hidden:
    'Die Anfrage wird nicht noch einmal gezeigt, weil sie ein Geheimnis oder eine Kartennummer enthält oder das Konto nicht bekannt ist.',
  path: 'Pfad der Anfrage',
  inferred: 'Aus den Feldern erkennen',
  pathHint: 'Nur nötig, wenn zwei Vorgänge dieselben Felder haben.',
  explain: 'Erklären',
  right: 'Der Hash ist richtig.',
  rightWithMistakes: 'Der Hash ist richtig, aber etwas anderes könnte falsch sein.',
  wrong: 'Der Hash ist nicht richtig.',
  hints: 'Was zu tun ist',
  mistakes: 'Fehler:',
  signedText: 'Signierter Text',
  signedHint: 'Die Werte in ihrer Reihenfolge, in Großbuchstaben, und dann das Passwort, das als *** gezeigt wird.',
  signedHintReversed:
    'Der Text der Hash-Regel reversed_md5, teils umgekehrt, in Großbuchstaben; das Passwort wird als *** gezeigt.',
  operation: 'Vorgang',
  noDigests: 'Ihre Rolle zeigt MD5 und SHA-1 nicht: Damit ließe sich die Anfrage senden.',
  fields: 'Signierte Felder in ihrer Reihenfolge',
  noFields: 'Der Hash dieses Vorgangs besteht nur aus dem Passwort.',
  field: 'Feld',
  value: 'Wert',
  noValue: 'nicht gesendet',
  refused: 'Abgelehnte Anfragen',
  refusedHint:
    'Oder wählen Sie eine Anfrage aus letzter Zeit, deren Hash abgelehnt wurde. Das Gateway hat sie bei der Ankunft erklärt: Es behält weder den Hash noch das Passwort.',
  noRefused: 'In letzter Zeit wurde keine Anfrage wegen ihres Hashs abgelehnt.',
  allRefused: 'Alle abgelehnten Anfragen',
  at: 'Zeit',
  order: 'Bestellung',
  mistake: 'Fehler',
  notExplained:
    'Diese Anfrage wurde nicht erklärt, weil zu viele gleichzeitig abgelehnt wurden. Geben Sie ihren Inhalt unten ein.',
  ofCall: 'Anfrage von',
  showCall: 'API-Aufruf zeigen',
  noDigestsOfCall: 'MD5 und SHA-1 werden nur für eine Anfrage gezeigt, die unten eingegeben wird.',
};
