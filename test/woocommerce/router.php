<?php

/** The web server of the test shop: files as they are, everything else through WordPress. */

declare(strict_types=1);

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$file = $_SERVER['DOCUMENT_ROOT'] . $path;
if (is_dir($file) && is_file(rtrim($file, '/') . '/index.php') && $path !== '/') {
    $file = rtrim($file, '/') . '/index.php';
}
if (is_file($file) && !str_ends_with($file, '.php')) {
    return false;
}
$isScript = is_file($file);
$_SERVER['SCRIPT_FILENAME'] = $isScript ? $file : $_SERVER['DOCUMENT_ROOT'] . '/index.php';
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = $isScript ? substr($file, strlen($_SERVER['DOCUMENT_ROOT'])) : '/index.php';
chdir(dirname($_SERVER['SCRIPT_FILENAME']));
require $_SERVER['SCRIPT_FILENAME'];
