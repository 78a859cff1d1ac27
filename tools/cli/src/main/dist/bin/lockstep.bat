@echo off
rem The lockstep command. Needs Java 17 or newer: JAVA_HOME, or java on the PATH.
setlocal
if not defined JAVA_HOME goto path
set "java=%JAVA_HOME%\bin\java.exe"
if exist "%java%" goto run
>&2 echo lockstep: JAVA_HOME has no bin/java: %JAVA_HOME%
exit /b 1

:path
set "java=java.exe"
where /q java.exe
if not errorlevel 1 goto run
>&2 echo lockstep: Java 17 or newer is needed: set JAVA_HOME, or put java on the PATH
exit /b 1

:run
rem Newer versions of Java have a console without a terminal, except for java.base.
"%java%" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -Dfile.encoding=UTF-8 -Djdk.console=java.base -jar "%~dp0..\lockstep-cli.jar" %*
exit /b %ERRORLEVEL%
