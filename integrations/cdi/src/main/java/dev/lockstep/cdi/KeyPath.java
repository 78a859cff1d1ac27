package dev.lockstep.cdi;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A key such as {@code #order.customer.id}: a parameter, and properties of it. Properties are looked up in the declared types:
 * a component of a record, a getter or a public field. Immutable, safe for use by many threads.
 */
final class KeyPath {
    private static final Pattern PATH = Pattern.compile("#(\\w+)((?:\\.\\w+)*)");
    private static final Pattern BY_INDEX = Pattern.compile("[ap](\\d+)");

    private final String text;
    private final int index;
    private final List<Member> steps = new ArrayList<>();

    /**
     * Reads a key.
     *
     * @throws IllegalArgumentException if it is something else, or if there is no such parameter or property; the message completes
     *     the sentence "the key '…' …"
     */
    KeyPath(String text, Method method) {
        Matcher path = PATH.matcher(text.strip());
        if (!path.matches()) {
            throw new IllegalArgumentException(
                    "is not supported under CDI, which has no expression language. Write #parameter or #parameter.property");
        }
        this.text = text;
        this.index = parameter(path.group(1), method);
        Class<?> type = method.getParameterTypes()[index];
        for (String property : path.group(2).isEmpty()
                ? new String[0]
                : path.group(2).substring(1).split("\\.", -1)) {
            Member step = step(type, property);
            ((AccessibleObject) step).trySetAccessible();
            steps.add(step);
            type = step instanceof Method getter ? getter.getReturnType() : ((Field) step).getType();
        }
    }

    private static int parameter(String name, Method method) {
        Parameter[] parameters = method.getParameters();
        for (int i = 0; i < parameters.length; i++) {
            if (parameters[i].isNamePresent() && parameters[i].getName().equals(name)) {
                return i;
            }
        }
        Matcher byIndex = BY_INDEX.matcher(name);
        if (byIndex.matches() && Integer.parseInt(byIndex.group(1)) < parameters.length) {
            return Integer.parseInt(byIndex.group(1));
        }
        boolean named = parameters.length > 0 && parameters[0].isNamePresent();
        throw new IllegalArgumentException("uses #" + name + ", which is no parameter of the method"
                + (named || parameters.length == 0
                        ? ""
                        : ". Compile with -parameters, or write #a0 for the first one"));
    }

    private static Member step(Class<?> type, String property) {
        if (type.isRecord()) {
            for (RecordComponent component : type.getRecordComponents()) {
                if (component.getName().equals(property)) {
                    return component.getAccessor();
                }
            }
        }
        String capital = Character.toUpperCase(property.charAt(0)) + property.substring(1);
        for (Method method : type.getMethods()) {
            boolean getter = method.getName().equals("get" + capital)
                    || (method.getName().equals("is" + capital) && method.getReturnType() == boolean.class);
            if (getter && method.getParameterCount() == 0 && !Modifier.isStatic(method.getModifiers())) {
                return method;
            }
        }
        for (Field field : type.getFields()) {
            if (field.getName().equals(property) && !Modifier.isStatic(field.getModifiers())) {
                return field;
            }
        }
        throw new IllegalArgumentException("uses ." + property + ", but " + type.getName()
                + " has no such record component, getter or public field");
    }

    /** The value in a call; null if one on the way is. */
    @Nullable
    Object value(@Nullable Object[] arguments) throws ReflectiveOperationException {
        Object value = arguments[index];
        for (Member step : steps) {
            if (value == null) {
                return null;
            }
            try {
                value = step instanceof Method getter ? getter.invoke(value) : ((Field) step).get(value);
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof RuntimeException thrown) {
                    throw thrown;
                }
                throw e;
            }
        }
        return value;
    }

    @Override
    public String toString() {
        return text;
    }
}
