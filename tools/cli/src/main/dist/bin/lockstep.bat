@echo off
rem The lockstep command. Needs Java 17 or newer: JAVA_HOME, or java on the PATH.
setlocal
set "java=java"
if defined JAVA_HOME set "java=%JAVA_HOME%\bin\java"
"%java%" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -Dfile.encoding=UTF-8 -jar "%~dp0..\lockstep-cli.jar" %*
exit /b %ERRORLEVEL%
